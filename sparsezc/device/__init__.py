"""The one GPU of this process (``cuda.py``), the compiler of its kernels (``nvrtc.py``), and its processors."""
