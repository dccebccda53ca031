"""The ways in which ranks exchange arrays: one process, MPI, CUDA IPC, NCCL, and the choice among them."""
