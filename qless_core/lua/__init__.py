"""The rules of the queue, in Lua; `script.py` assembles them. Read README.md first."""
