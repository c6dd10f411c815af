"""Machine code made on the user's machine by LLVM: no compiler needed, nothing cached on disk; knows no tensors."""
