"""The HDF5 layout that opens without reading its entries, and HDF5 files of other programs."""
