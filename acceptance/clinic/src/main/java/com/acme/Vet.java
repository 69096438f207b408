package com.acme;

import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;

/** Not serializable, so that no cache outside of the JVM can hold it. */
@Entity
class Vet {

    @Id
    @GeneratedValue
    private Long id;

    private String name;

    protected Vet() {}

    Vet(String name) {
        this.name = name;
    }

    String name() {
        return name;
    }
}
