"""The official engine (TextWorld), the official data, and what of both this machine has."""
