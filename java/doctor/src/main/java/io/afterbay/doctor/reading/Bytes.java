package io.afterbay.doctor.reading;

import java.util.Arrays;

/** Searching in lines that are not worth a string. */
final class Bytes {
    private Bytes() {}

    static boolean startsWith(byte[] line, int from, int to, byte[] word) {
        if (to - from < word.length) {
            return false;
        }
        for (int i = 0; i < word.length; i++) {
            if (line[from + i] != word[i]) {
                return false;
            }
        }
        return true;
    }

    /** Where the ASCII word begins, or -1. */
    static int indexOf(byte[] line, int from, int to, String word) {
        int last = to - word.length();
        for (int at = from; at <= last; at++) {
            if (line[at] == word.charAt(0) && matches(line, at, word)) {
                return at;
            }
        }
        return -1;
    }

    private static boolean matches(byte[] line, int at, String word) {
        for (int i = 1; i < word.length(); i++) {
            if (line[at + i] != word.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    /** A copy of a part, in which a byte stands for each occurrence of some bytes. */
    static byte[] replaced(byte[] line, int from, int to, byte[] bytes, byte with) {
        byte[] result = new byte[to - from];
        int length = 0;
        for (int at = from; at < to; ) {
            if (startsWith(line, at, to, bytes)) {
                result[length++] = with;
                at += bytes.length;
            } else {
                result[length++] = line[at++];
            }
        }
        return Arrays.copyOf(result, length);
    }
}
