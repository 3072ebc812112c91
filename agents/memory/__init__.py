"""Memories of an arm from trial to trial: sliding, retrieving, and strategies across tasks."""
