package sign

import "tillwatch/ui/dashboard/paint"

// observed are the signs of observed spenders. Each differs in its fill.
var observed = [...]Sign{
	{"▓", "observed", paint.Placing},
	{"▒", "observed", paint.Retrieving},
	{"▞", "observed", paint.Unlisted},
	{"▤", "observed", paint.Completed},
}

// Own is the sign of what tillwatch itself spends.
func Own() Sign { return Sign{"█", "tillwatch", paint.Accent} }

// Observed is the sign of the nth observed spender, from 0.
func Observed(n int) Sign {
	if n < len(observed) {
		return observed[n]
	}
	return Sign{"▚", "other observed callers", paint.Text}
}

// Rest is the sign of the spenders that nobody observed.
func Rest() Sign { return Sign{"░", "not observed", paint.Muted} }
