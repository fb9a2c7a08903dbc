package api

import (
	"strings"
	"testing"
)

func TestEveryFixtureFailureHasAGroupAndAdvice(t *testing.T) {
	seen := map[string]FailureCode{}
	listed := map[FailureCode]bool{}
	for _, f := range knownFailures() {
		listed[f.code] = true
	}
	cases := fixtures(t, "02-failure-reasons.json")
	same(t, "codes listed", len(listed), len(cases))
	for _, f := range cases {
		intent, err := DecodeIntent(f.Body)
		if err != nil {
			t.Fatal(err)
		}
		code := intent.Failure.Code
		if !listed[code] {
			t.Errorf("%s is not listed", code)
		}
		if group := code.Group(); (group == FailureUnknown) != (code == "unknown") {
			t.Errorf("%s is %s", code, group)
		}
		advice := code.Advice()
		if !strings.HasSuffix(advice, ".") || strings.Count(advice, ". ") > 0 || len(advice) > 160 {
			t.Errorf("%s: %q is not one short sentence", code, advice)
		}
		if other, ok := seen[advice]; ok {
			t.Errorf("%s and %s have the same advice", code, other)
		}
		seen[advice] = code
	}
}

func TestNewFailureCodeIsUnclassified(t *testing.T) {
	code := FailureCode("moon_phase")
	same(t, "group", code.Group(), FailureUnknown)
	if code.Advice() == FailureCode("unknown").Advice() || code.Advice() == "" {
		t.Errorf("advice of a new code: %q", code.Advice())
	}
}
