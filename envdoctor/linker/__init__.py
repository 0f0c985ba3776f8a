"""What distributions take of each other, and which of their names were there in which releases."""
