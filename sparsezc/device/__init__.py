"""The one GPU of this process (``cuda.py``) and the compiler of its kernels (``nvrtc.py``)."""
