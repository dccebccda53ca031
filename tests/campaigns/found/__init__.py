"""What the campaigns found, each as a test of its own; empty when nothing is found that is not mended."""
