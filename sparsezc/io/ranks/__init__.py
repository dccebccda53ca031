"""Files of several ranks: each reads its rows or its range of bytes; edges travel to the ranks that own their rows."""
