"""What follows from one's actions is settled case by case."""
