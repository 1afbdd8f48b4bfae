"""What runs are worth: accruals, CMSE and NAD, statistics over seeds, and the paper's claims."""
