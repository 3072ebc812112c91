"""One call of a tool: virtual time, the faults that it meets, how it went wrong, and the line that records it."""
