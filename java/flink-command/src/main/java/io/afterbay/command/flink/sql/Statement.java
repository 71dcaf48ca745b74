package io.afterbay.command.flink.sql;

/**
 * A statement of a script.
 *
 * @param number from 1
 * @param line of its first word, from 1
 * @param text with its semicolon, below as many empty lines as there are lines before it in the
 *     script, so that a parser's line numbers are those of the script
 */
public record Statement(int number, int line, String text) {}
