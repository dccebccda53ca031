"""Products over semirings: SpMV, SpMM, SpGEMM, and many searches at once."""
