"""How pages stay current: one subscription a process, topics out of events, signals to browsers."""
