"""The tests. Nothing here is imported by the package."""

import os

# Before numpy is loaded: two workers on two cores would wait for each other's threads, and waiting
# threads of BLAS spin.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
