package command

import (
	"fmt"
	"slices"
	"strings"
)

// nearest is the name that is written most like this one, "" when none is: of a short
// one, or of the words that are not right, some letters have to be. Else it is one that
// this is a part of.
func nearest(name string, known []string) string {
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
	if part := strings.TrimLeft(name, "-"); best == "" && letters > 2 { // two letters stand in many a name
		if i := slices.IndexFunc(known, func(k string) bool { return strings.Contains(k, part) }); i >= 0 {
			return known[i]
		}
	}
	return best
}

// edits is how many letters are to be changed, added, taken away or swapped with
// their neighbour to make b of a.
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

// fewNames are named all where none of them is near.
const fewNames = 9

// suggest ends a sentence about a name that is not known by which may be meant.
func suggest(name string, known []string) string {
	if near := nearest(name, known); near != "" {
		return ": did you mean " + near + "?"
	}
	if len(known) <= fewNames {
		return ": there are " + strings.Join(known, ", ")
	}
	return ", nor one like it"
}

const (
	variablePrefix = "TILLWATCH_"
	ofTests        = "TEST_" // they start the program
)

// variables names the environment variables that are read, without their prefix.
func variables() []string {
	names := []string{"CONFIG", "PROFILE"}
	for _, key := range settingKeys() {
		if !slices.Contains(tables(), key) { // a table has no place in a variable
			names = append(names, strings.ToUpper(strings.ReplaceAll(key, ".", "_")))
		}
	}
	return names
}

// unreadVariables says of each TILLWATCH_ variable that nothing reads it, and
// which may be meant. Its value may be a secret.
func unreadVariables(environment []string) (told []string) {
	known := variables()
	for _, pair := range environment {
		name, _, _ := strings.Cut(pair, "=")
		rest, ours := strings.CutPrefix(name, variablePrefix)
		if !ours || strings.HasPrefix(rest, ofTests) || slices.Contains(known, strings.ToUpper(rest)) {
			continue
		}
		text := fmt.Sprintf("%.60s is set, but nothing reads it", name)
		if rest == "KEYS" {
			text += ": keys are set in tillwatch.toml, under [keys]"
		} else if near := nearest(rest, known); near != "" {
			text += ": did you mean " + variablePrefix + near + "?"
		}
		told = append(told, text)
	}
	slices.Sort(told)
	return told
}
