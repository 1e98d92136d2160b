"""Other tools' files, as files of ours; what cannot be carried over is named."""
