"""What a submission needs before it is proposed, and what a pull request may change."""
