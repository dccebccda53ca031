"""The HDF5 layout that is opened without a look at its entries, and HDF5 files of other programs."""
