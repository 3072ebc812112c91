"""What endpoints mean when they refuse a call, and what is done about it."""
