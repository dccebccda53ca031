"""Files of several ranks: each reads its rows or its range of bytes; edges are sent to the owners of their rows."""
