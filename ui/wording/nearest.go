package wording

import (
	"slices"
	"strings"
)

// Nearest is the known name closest to this one: by spelling, or else one that
// contains it. "" means that none is close enough.
func Nearest(name string, known []string) string {
	letters := len(strings.TrimLeft(name, "-"))
	best, least := "", letters
	for _, k := range known {
		wrong := len(name)
		for i := range min(len(name), len(k)) {
			if name[i] != k[i] {
				break
			}
			if strings.ContainsRune("-._", rune(name[i])) {
				wrong = len(name) - i - 1
			}
		}
		if n := edits(name, k); n < min(least, max(2, wrong/3)+1, wrong) {
			best, least = k, n
		}
	}
	if part := strings.TrimLeft(name, "-"); best == "" && letters > 2 { // two letters are part of too many names
		if i := slices.IndexFunc(known, func(k string) bool { return strings.Contains(k, part) }); i >= 0 {
			return known[i]
		}
	}
	return best
}

// edits is the number of letters to change, add, remove or swap to turn a into b.
func edits(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range len(b) {
			change := last[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}

// fewNames is how many names Suggest lists in full if none is near.
const fewNames = 9

// Suggest returns the end of a sentence about an unknown name: likely names.
func Suggest(name string, known []string) string {
	if near := Nearest(name, known); near != "" {
		return ": did you mean " + near + "?"
	}
	if len(known) <= fewNames {
		return ": there are " + strings.Join(known, ", ")
	}
	return ", nor one like it"
}
