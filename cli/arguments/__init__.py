"""Arguments of commands: groups of options, options that are given twice, and names of runs, files and addresses."""
