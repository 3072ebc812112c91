"""What an arm remembers from trial to trial: sliding, retrieving, and strategies across tasks."""
