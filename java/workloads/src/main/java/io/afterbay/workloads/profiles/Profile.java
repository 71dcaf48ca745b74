package io.afterbay.workloads.profiles;

/**
 * What a member has written, from a moment on.
 *
 * @param member its number
 * @param changedMicros when it was written, in microseconds since 1970
 * @param title as it was written: words, separated by blanks, without commas and quotes
 */
public record Profile(long member, long changedMicros, String title) {}
