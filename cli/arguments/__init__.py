"""What commands take: groups of options, options that are given twice, and the names of runs, files and addresses."""
