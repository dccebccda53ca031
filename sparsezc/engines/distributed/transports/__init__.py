"""The ways in which ranks exchange arrays: the protocol, one process, MPI, CUDA IPC and NCCL; and the choice among them."""
