"""Operations: one thing done to many jobs, in the background, seen before and undone after.

What is to be done and how far it is lies in Redis: `operation.py` reads and writes it,
`freezing.py` makes the list of its jobs, `looking.py` says what it would do, `running.py` does it
on a worker of qless itself (`background.py`), and `report.py` tells of each job what became of it.
"""
