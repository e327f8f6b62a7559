package plan

// Version is the version of the program, which models and results carry.
const Version = "0.1.0-dev"
