// Package quota reads, keeps and spends the quota of an account: the RateLimit
// header fields of IETF draft 8, what is known of each bucket, and the pace at
// which requests may go out.
//
// What others of the account do is seen where it passes: a [Transport] tells of each
// request in an [Observation].
//
// The buckets are shared with production: a person who waits comes first, and
// what nobody waits for keeps to a share of each bucket.
package quota
