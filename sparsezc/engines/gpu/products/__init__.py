"""Products over semirings: SpMV, SpMM, SpGEMM, and the steps of many searches at once."""
