"""Official engine (TextWorld) and official data, and what of both this machine has."""
