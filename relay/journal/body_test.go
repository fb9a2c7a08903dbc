package journal

import "testing"

func TestSameBody(t *testing.T) {
	for _, test := range []struct {
		name, a, b string
		same       bool
	}{
		{"the same bytes", `{"id":"1"}`, `{"id":"1"}`, true},
		{"white space between the parts", `{"id":"1","n":[1,2]}`, "{ \"id\" : \"1\",\r\n\t\"n\": [1, 2]\n}\n", true},
		{"white space within a text", `{"id":"a b"}`, `{"id":"a  b"}`, false},
		{"another value", `{"id":"1"}`, `{"id":"2"}`, false},
		{"another order", `{"a":1,"b":2}`, `{"b":2,"a":1}`, false},
		{"the same text that is no JSON", "a b", "a b", true},
		{"white space in what is no JSON", "a b", "a  b", false},
		{"JSON and none", `{}`, `{} x`, false},
		{"nothing and nothing", "", "", true},
		{"nothing and white space", "", " ", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if sameBody([]byte(test.a), []byte(test.b)) != test.same || sameBody([]byte(test.b), []byte(test.a)) != test.same {
				t.Errorf("%q and %q: same is not %t", test.a, test.b, test.same)
			}
		})
	}
}
