"""One file per schema revision. A revision that was ever released is never changed."""
