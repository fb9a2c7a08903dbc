// Package account keeps the live picture of one account: what is known of its intents, shipments, events and
// quota, how it was learnt, and how old it is.
//
// An event is a hint, a read is the truth. Facts are merged by version, not in order of arrival: reads by when the
// request was sent, events by createdAt. States only move forward.
//
// A [Store] holds the picture under one lock. Each of its parts keeps one thing: intents, shipments, events,
// missing events, requests, the service's health, its lists, the feed, the day, the spenders, and alerts. They
// share one news, which gives changes their versions and collects signals for the watcher. The store passes on to
// the others what one part learns.
//
// A [Watcher] keeps a store correct and fresh: it follows a [Feed], schedules reads, and performs the most urgent
// one.
package account
