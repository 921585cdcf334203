"""Finding causes: an index of all jobs on the disk of this host, and what is asked of it.

The index is an aid that can be thrown away: Redis stays the truth, and each action checks there.
"""
