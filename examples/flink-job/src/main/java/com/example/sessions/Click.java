package com.example.sessions;

/** A visitor looked at a page. Fields are public and there is a plain constructor: a Flink POJO. */
public class Click {
    public long visitor;
    public int page;
    public long timeMillis;

    public Click() {}

    public Click(long visitor, int page, long timeMillis) {
        this.visitor = visitor;
        this.page = page;
        this.timeMillis = timeMillis;
    }
}
