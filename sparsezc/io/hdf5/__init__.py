"""HDF5 files that open without reading their entries, and HDF5 files of other programs."""
