"""The tutorials, and their notebooks."""
