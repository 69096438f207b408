package com.acme;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
class VetController {

    private final VetRepository vets;

    VetController(VetRepository vets) {
        this.vets = vets;
    }

    /** Says how many vets the cache knows, and adds one behind its back. */
    @GetMapping("/vets")
    String vets() {
        int cached = vets.findAll().size();
        vets.save(new Vet("Ann"));
        return cached + " vets";
    }
}
