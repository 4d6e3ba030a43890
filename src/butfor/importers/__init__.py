"""From a fitted estimator to the IR: one file per source library; nothing else knows that library."""
