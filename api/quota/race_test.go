//go:build race

package quota

// raced: under the race detector simulated time passes a hundred times more slowly,
// and what it looks for shows in one of the models as well as in all.
const raced = true
