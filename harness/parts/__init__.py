"""What parts, ours and those of other packages, hand over and declare, checked before anything is made of it."""
