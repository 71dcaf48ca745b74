package com.example.sessions;

import java.util.ArrayList;
import java.util.List;

/** One visit: the pages that a visitor looked at without a long pause, in order of time. */
public class Session {
    public long visitor;
    public long startMillis;
    public long endMillis;

    /** Which visit of this visitor it is, from 1. */
    public long visit;

    public List<Integer> pages = new ArrayList<>();

    public Session() {}

    @Override
    public String toString() {
        return "visitor %d, visit %d: %d pages in %.1f s, first %d, last %d"
                .formatted(
                        visitor,
                        visit,
                        pages.size(),
                        (endMillis - startMillis) / 1e3,
                        pages.get(0),
                        pages.get(pages.size() - 1));
    }
}
