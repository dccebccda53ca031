"""gb.loader: skipped where PyTorch Geometric is not installed."""
