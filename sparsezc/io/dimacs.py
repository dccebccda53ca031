SUFFIXES: tuple[str, ...] = ()
