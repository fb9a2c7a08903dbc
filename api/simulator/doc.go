// Package simulator is the stand-in for the service: the whole contract over real HTTP, with a shop that acts by
// itself, for demonstrations, tests and integration work.
//
// It follows the contract strictly: five states, nine event types, closed bodies, `Bearer` keys only, RateLimit
// fields on every answer. Where the contract shows nothing, it does what public clients have observed. An intent
// created over HTTP always gets its offer and completes once it is confirmed, unless its product URL, its variant,
// its constraints or the merchant's stock prevent that; only the intents of the shop fail at random. Product events
// match the lookup.
//
// A product URL whose path ends in /magic/ and a name, one of [Magics] or [FailureCodes], decides the fate of its
// intent: with https://shop.example/magic/payment_failed the intent fails with this code, at the step where that
// failure usually happens, or with ?while=placing while its order is placed.
//
// A registered endpoint first gets the verification challenge, repeatedly until it answers, then events. A delivery
// that is not answered with 200 within 5 seconds is tried again after each of [RetryPauses], then given up.
//
// The seed decides everything random: the n-th intent of a seed has the same id, offer and fate in every run. The
// seconds of the buckets, the shop, the 5 seconds of a delivery and the pauses between its attempts are real time,
// the day of the intents is the service's; all other durations are divided by the speed.
//
// [Controls] lists the endpoints of the control API under /control/.
package simulator
