"""Placeholder."""


def main(options):
    raise NotImplementedError
