"""Operations on vectors and matrices entry by entry, transposes, and the extraction and assignment of parts."""
